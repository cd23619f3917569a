"""Lets the tests of all folders import the modules of this folder."""
