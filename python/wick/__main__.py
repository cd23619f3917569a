"""`python -m wick` is the command `wick`."""
from wick.command import main

main()
