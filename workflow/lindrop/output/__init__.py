"""Tables and figures as files: csv beside every drawing, four formats of every table."""
