"""What can be done from the command line?"""
