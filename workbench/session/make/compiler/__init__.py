"""`workbench cc` and `workbench c++`: compilers whose object files record calls of the platform's API."""
