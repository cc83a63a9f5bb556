-- The row stands while its operation runs or waits for its user, however long that takes: nothing in it expires, so it is no lease.
alter table lease rename to running_operation;
-- Its constraints follow, and with them the index of the primary key. NOT NULL has names from PostgreSQL 18 on.
do $$
declare
  constraint_name text;
begin
  for constraint_name in select conname from pg_constraint where conrelid = 'running_operation'::regclass and conname like 'lease%' loop
    execute format('alter table running_operation rename constraint %I to %I',
      constraint_name, 'running_operation' || substr(constraint_name, length('lease') + 1));
  end loop;
end
$$;
