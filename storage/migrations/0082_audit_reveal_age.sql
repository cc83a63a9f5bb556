-- compatible
-- How often something was shown is forgotten with the entry: it is found by its age. In a step of its own, because what is there is read for it while nobody
-- counts what is shown; the log itself takes entries meanwhile.
create index audit_reveal_by_hour on audit_reveal using brin (hour);
