"""Write figures (pdf, png and the data as csv) and tables (csv, Markdown, HTML and LaTeX)."""
