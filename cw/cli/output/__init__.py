"""The output of commands: results, tables, messages and progress."""
