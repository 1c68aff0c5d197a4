"""`workbench cc` and `workbench c++`: a compiler in whose object files calls of the platform's API are recorded."""
