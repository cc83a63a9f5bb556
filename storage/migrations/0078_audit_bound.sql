-- compatible
-- The audit log in parts by month (HTTP-30), the first of three steps: a bound that every entry keeps for the next month or two. It is made without a
-- look at what is there, so that nothing waits. Nodes of the version before add entries as before.
do $$
declare
  newest timestamptz := (select max(at) from audit.entry);
  bound timestamptz := date_trunc('month', greatest(now(), newest) at time zone 'UTC') at time zone 'UTC';
begin
  execute format('alter table audit.entry add constraint entry_bound check (at < %L) not valid',
    (bound at time zone 'UTC' + interval '2 months') at time zone 'UTC');
end $$;
