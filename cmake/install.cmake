# What `cmake --install` puts where: headers, libraries, the command, wick-codegen under libexec.
install(TARGETS wick RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
