"""OpenCL kernels on FPGAs: their structure, what they do on data, and what that costs (Wang, He, Zhang, Jiang 2016)."""
