import { z } from 'zod'

export const groups = ['day', 'agent', 'model', 'session', 'owner'] as const

export const splits = ['agent', 'model'] as const

const exampleCounts = {
  runs: 12,
  failed_runs: 1,
  cancelled_runs: 0,
  p50_ms: 2_316,
  p95_ms: 8_833,
  input_tokens: 40_000,
  output_tokens: 9_000,
  cached_input_tokens: 12_000,
  cache_write_input_tokens: 4_000,
  reasoning_tokens: 3_000,
  cost: 0.0253,
}

const took = (who: string) =>
  z
    .int()
    .min(0)
    .nullable()
    .describe(
      `${who} took no longer, give or take an eighth. From the start of a run to its end, or to where it waits for a person. Null: no run ended well.`,
    )

const counts = {
  runs: z.int().min(0).describe('Runs that ended, or came to a person. An answer of a person begins another one.'),
  failed_runs: z.int().min(0).describe('Those that ended with an error.'),
  cancelled_runs: z.int().min(0).describe('Those that somebody stopped.'),
  p50_ms: took('Half of the runs'),
  p95_ms: took('95 of 100 runs'),
  input_tokens: z.int().min(0).describe('All input, also what came from a cache.'),
  output_tokens: z.int().min(0),
  cached_input_tokens: z.int().min(0).describe('The part of the input that the provider had in its cache.'),
  cache_write_input_tokens: z.int().min(0).describe('The part of the input that the provider put into its cache.'),
  reasoning_tokens: z.int().min(0).describe('A part of the output.'),
  cost: z.number().min(0).nullable().describe('Null: a model without a price was used.'),
}

export const UsageCountsSchema = z.strictObject(counts)
export type UsageCounts = z.output<typeof UsageCountsSchema>

export const TokenPriceSchema = z.strictObject({
  input: z.number().min(0),
  output: z.number().min(0),
  cached_input: z.number().min(0).describe('Input that the provider had in its cache.'),
  cache_write: z.number().min(0).describe('Input that the provider put into its cache.'),
})
/** What a model costs, per million tokens. */
export type TokenPrice = z.output<typeof TokenPriceSchema>

export const UsageSchema = z
  .strictObject({
    from: z.iso.date(),
    to: z.iso.date(),
    by: z.enum(groups),
    rows: z.array(
      z.strictObject({
        key: z.string().describe('A date, the name of an agent, `provider/model`, the id of a session, or an owner.'),
        part: z.string().exactOptional().describe('With `split`: the agent or the model of this part of the day.'),
        label: z.string().describe('The key, or the title of a session.'),
        ...counts,
      }),
    ),
    total: UsageCountsSchema.describe('Of the whole range, also of rows beyond the limit.'),
    limit: z
      .strictObject({
        owner: z.string(),
        runs: z.number().min(0).nullable(),
        tokens: z.number().min(0).nullable(),
        cost: z.number().min(0).nullable(),
      })
      .nullable()
      .describe(
        'What the one person of these rows may use in a day, by `limits.per_day`, without what their groups add. Null in it: no limit. Null: they are the rows of several people, or nobody has limits.',
      ),
    currency: z.string(),
    unpriced: z.array(z.string()).describe('Models without a price in `prices.models`.'),
    prices: z
      .record(z.string(), TokenPriceSchema)
      .describe('Per million tokens, by `provider/model`: of the models that were used and those that agents use.'),
  })
  .meta({
    id: 'Usage',
    example: {
      from: '2026-11-15',
      to: '2026-11-15',
      by: 'model',
      rows: [{ key: 'openai/gpt-5-mini', label: 'openai/gpt-5-mini', ...exampleCounts }],
      total: exampleCounts,
      limit: { owner: 'ada', runs: null, tokens: null, cost: 5 },
      currency: 'USD',
      unpriced: [],
      prices: { 'openai/gpt-5-mini': { input: 0.25, output: 2, cached_input: 0.025, cache_write: 0.25 } },
    },
  })
export type Usage = z.output<typeof UsageSchema>

const limited = <S extends z.ZodType>(used: S) =>
  z.strictObject({ used, allowed: z.number().min(0).nullable().describe('null: no limit.') })

export const MyLimitsSchema = z
  .strictObject({
    day: z.iso.date().describe('In UTC.'),
    resets_at: z.iso.datetime().describe('When it starts again.'),
    runs: limited(z.int().min(0)).describe('Runs that were started.'),
    tokens: limited(z.int().min(0)).describe('Of runs that have ended, input and output.'),
    cost: limited(z.number().min(0).nullable().describe('null: a model without a price was used.')).extend({
      currency: z.string(),
    }),
  })
  .meta({
    id: 'MyLimits',
    example: {
      day: '2026-11-15',
      resets_at: '2026-11-16T00:00:00.000Z',
      runs: { used: 12, allowed: 200 },
      tokens: { used: 49_000, allowed: null },
      cost: { used: 0.0253, allowed: 5, currency: 'USD' },
    },
  })
/** What you may use in a day, and what you have used. */
export type MyLimits = z.output<typeof MyLimitsSchema>
