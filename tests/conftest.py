"""Lets the tests of all folders import what lies here."""
