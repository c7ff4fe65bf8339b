-- Rollups of all keys together, under spans of their own: with many keys, the rollups of an account are as many as its
-- requests, and most charts ask for no key. Those that do ask for one find its rows by an index.

INSERT INTO request_rollups (account_id, span, start_at, model, tier, key_id, status,
    requests, errors, fallbacks, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, latency_ms,
    first_content_ms, overhead_ms, answered_first, answered_second, answered_later, answered_none, answered_known,
    charge, baseline, l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, l10, l11, l12, l13, l14, l15, l16, l17, l18, f0, f1,
    f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, o0, o1, o2, o3, o4, o5, o6, o7, o8)
  SELECT account_id, 'all-' || span, start_at, model, tier, '', status,
    SUM(requests), SUM(errors), SUM(fallbacks), SUM(input_tokens), SUM(cache_read_tokens), SUM(cache_write_tokens),
    SUM(output_tokens), SUM(latency_ms), SUM(first_content_ms), SUM(overhead_ms), SUM(answered_first),
    SUM(answered_second), SUM(answered_later), SUM(answered_none), SUM(answered_known), SUM(charge), SUM(baseline),
    SUM(l0), SUM(l1), SUM(l2), SUM(l3), SUM(l4), SUM(l5), SUM(l6), SUM(l7), SUM(l8), SUM(l9), SUM(l10), SUM(l11),
    SUM(l12), SUM(l13), SUM(l14), SUM(l15), SUM(l16), SUM(l17), SUM(l18), SUM(f0), SUM(f1), SUM(f2), SUM(f3),
    SUM(f4), SUM(f5), SUM(f6), SUM(f7), SUM(f8), SUM(f9), SUM(f10), SUM(f11), SUM(f12), SUM(f13), SUM(f14),
    SUM(f15), SUM(f16), SUM(f17), SUM(f18), SUM(o0), SUM(o1), SUM(o2), SUM(o3), SUM(o4), SUM(o5), SUM(o6), SUM(o7),
    SUM(o8)
  FROM request_rollups GROUP BY account_id, span, start_at, model, tier, status;

CREATE INDEX request_rollups_by_key ON request_rollups (account_id, key_id, span, start_at);
