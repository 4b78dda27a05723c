"""What layers.py is made of: directories, files, projects, packages, settings; and layers that disagree."""
