package weight_pkg;
    import sample_pkg::*;
    function automatic sample_t weighted(sample_t s); return s << 1; endfunction
endpackage
