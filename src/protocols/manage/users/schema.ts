import { z } from 'zod'

const LeftSchema = z.strictObject({
  what: z.enum(['token', 'device', 'passkey', 'push_subscription', 'schedule', 'session']),
  id: z.string(),
  why: z.string().describe('In words, with what to do.'),
})
export type Left = z.output<typeof LeftSchema>

export const ErasedUserSchema = z
  .strictObject({
    user: z.string(),
    tokens: z.int().describe('How many were revoked; the same for the others.'),
    devices: z.int(),
    push_subscriptions: z.int(),
    sign_ins: z.int().describe('Sign-ins of this user to MCP servers.'),
    schedules: z.int(),
    sessions: z.int().describe('With those that lists do not show.'),
    memories: z.int(),
    left: z.array(LeftSchema).describe('What could not be removed. Do what it says, then send the request again.'),
  })
  .meta({
    id: 'ErasedUser',
    example: {
      user: 'mia',
      tokens: 1,
      devices: 0,
      push_subscriptions: 0,
      sign_ins: 1,
      schedules: 0,
      sessions: 3,
      memories: 4,
      left: [
        {
          what: 'session',
          id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
          why: 'An agent elsewhere works in this session. Terminate the session, then delete it.',
        },
      ],
    },
  })
/** How much of a user was erased. */
export type ErasedUser = z.output<typeof ErasedUserSchema>
