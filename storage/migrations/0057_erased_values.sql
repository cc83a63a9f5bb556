-- compatible
-- Inputs and results of operations may go before the operation does (STO-6). Each statement locks `operation` for a moment: a constraint that is
-- not validated reads no row. A node of the version before shows such an operation with a result of null.
alter table operation add column input_erased_at timestamptz, add column result_erased_at timestamptz;
alter table operation drop constraint operation_check, drop constraint operation_has_result;
alter table operation
  add constraint operation_has_input check (num_nonnulls(input, input_sealed) = case when input_erased_at is null then 1 else 0 end) not valid,
  add constraint operation_has_result check (status <> 'succeeded'
    or num_nonnulls(result, result_sealed) = case when result_erased_at is null then 1 else 0 end) not valid;

-- Behind which operation a class goes on in its next round, where what it is through with stays in the table; and what it has passed by.
alter table retention_turn add column marks jsonb not null default '{}';
create table retention_passed (
  class text not null,
  operation_id uuid not null references operation on delete cascade,
  looked_at timestamptz not null default now(),
  primary key (class, operation_id)
);
create index retention_passed_by_look on retention_passed (class, looked_at);
create index retention_passed_by_operation on retention_passed (operation_id);
