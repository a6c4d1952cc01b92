import { z } from 'zod'

const example = {
  name: 'webhook:pager',
  title: 'Webhooks',
  surface: 'remote',
  set_up: true,
  waiting: 3,
  missed: 0,
  last_shown_at: '2026-11-15T09:00:00.000Z',
  trouble: null,
}

export const ChannelSchema = z
  .strictObject({
    name: z
      .string()
      .describe('Its kind, and whom or what it reaches: `slack:C012AB3CD`, `push:ada` or `webhook:pager`.'),
    title: z.string().describe('What people call channels of its kind, such as Slack.'),
    surface: z.enum(['local', 'remote']),
    set_up: z.boolean().describe('False: it reaches nobody yet, such as Web Push before a browser has subscribed.'),
    waiting: z.number().int().describe('Items that wait to be shown.'),
    missed: z.number().int().describe('Items that it could not show one by one, and has not summed up yet.'),
    last_shown_at: z.iso.datetime().nullable().describe('When it last showed something; null: not since the start.'),
    trouble: z.string().nullable().describe('Why nobody is reached there just now; null: it works.'),
  })
  .meta({ id: 'Channel', example })
/** A way to reach operators. */
export type Channel = z.output<typeof ChannelSchema>

export const ReplaySchema = z.strictObject({
  after: z
    .string()
    .max(64)
    .describe('The id of a feed item, such as `f.12`: what the channel has shown after it is shown once more.'),
})

export const ReplayedSchema = z
  .strictObject({
    replayed: z.number().int().describe('How many items are shown once more.'),
    cursor: z.string(),
    has_more: z.boolean(),
  })
  .meta({ example: { replayed: 7, cursor: 'f.21', has_more: false } })
/** If `has_more`, go on later from `cursor`. */
export type Replayed = z.output<typeof ReplayedSchema>
