-- compatible
-- What is known of a write whose outcome is not. Nodes of the version before write none. The constraint is not checked for the rows
-- there are (it holds): that would read a large table under its lock.
alter table operation
  add column evidence jsonb,
  add constraint operation_has_evidence check (evidence is null or status = 'outcome_unknown') not valid;
