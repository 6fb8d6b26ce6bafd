-- What do contacts look for?
-- One row per office, contact and profile that is valid at the latest reading of any, as last read.
-- Columns:
--   office_id: customer id of the office that was asked
--   contact_id: id of who is looking
--   profile_id: id of the profile
--   kind: the list it came in, such as residentialProfiles
--   subtypes: kinds of homes that are looked for
--   area_ids: ids of the areas that are looked in; empty where none is named
--   highest_price: the highest price that is looked for; currency not documented
--   is_automatic: whether the system made the profile
SELECT
    asked_customer_id AS office_id,
    asked_contact_id AS contact_id,
    id AS profile_id,
    kind,
    coalesce(from_json(subtypes, '["VARCHAR"]'), []) AS subtypes,
    coalesce(from_json(area_ids, '["VARCHAR"]'), []) AS area_ids,
    price_max_value AS highest_price,
    is_automatic_profile AS is_automatic
FROM bi.search_profiles
WHERE valid_to IS NULL OR valid_to >= (SELECT max(_fetched_at_utc)::DATE FROM bi.search_profiles)
QUALIFY row_number() OVER (PARTITION BY asked_customer_id, asked_contact_id, id ORDER BY _fetched_at_utc DESC) = 1
