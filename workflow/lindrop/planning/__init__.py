"""What a run will take, before it starts: jobs, time, memory and disk, and what a budget leaves."""
