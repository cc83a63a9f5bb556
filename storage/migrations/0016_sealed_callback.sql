-- compatible
-- The address of a callback, sealed as other data of customers is. The constraint is not checked for the rows there are (they hold).
alter table subscription
  add column callback_url_sealed bytea,
  alter column callback_url drop not null,
  add constraint subscription_has_callback_url check (num_nonnulls(callback_url, callback_url_sealed) = 1) not valid;
