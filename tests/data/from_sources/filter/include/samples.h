unsigned sample_at(int i);
