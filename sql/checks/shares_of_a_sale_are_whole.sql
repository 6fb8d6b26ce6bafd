-- Do the agents' shares of a sale add up to the whole commission?
-- One row per sale whose shares differ from 100 % by more than rounding, or whose amounts differ from the commission.
-- Severity: warning
-- Concerns: sales
SELECT month, office_id, estate_id, agent_count, agent_share, commission, agent_commission
FROM marts.sales
WHERE agent_count > 0
    AND (abs(agent_share - 1) > 0.0001 * agent_count OR abs(commission - agent_commission) > 0.005)
