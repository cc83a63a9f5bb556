-- compatible
-- Where a key may be used from, how it begins, and where it was used from last. A node of the version before lets a key through from anywhere.
alter table api_key add column networks text[], add column prefix text, add column last_used_from text;
