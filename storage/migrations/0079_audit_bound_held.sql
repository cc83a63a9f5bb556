-- compatible
-- The second step: all entries are looked at once, while others are added.
alter table audit.entry validate constraint entry_bound;
