import { z } from 'zod'
import { scopes, tokenRoles } from '../../../domain/supervision/token-role.ts'
import { USER_NAME, USER_NAME_TEXT } from '../../../domain/supervision/user-name.ts'

/** Five years. */
const LONGEST_SECONDS = 5 * 365 * 86_400

export const NewTokenSchema = z
  .strictObject({
    role: z.enum(tokenRoles),
    user: z
      .string()
      .regex(USER_NAME, `Send ${USER_NAME_TEXT}.`)
      .exactOptional()
      .describe('Owner of the sessions that the token begins. Left out: you. Only an admin names somebody else.'),
    name: z
      .string()
      .regex(/^[^\p{C}]{0,64}$/u, 'Send at most 64 printable characters.')
      .default('')
      .describe('A label, to tell tokens apart.'),
    workspace: z
      .string()
      .max(4_096)
      .exactOptional()
      .describe('Only for the role `agent`, which needs it: absolute path of the folder that the agent works in.'),
    channel: z
      .string()
      .regex(/^[^\p{C}]{1,200}$/u, 'Send 1 to 200 printable characters.')
      .exactOptional()
      .describe('Only for the role `agent`: the channel that its sessions report to.'),
    scopes: z
      .array(z.enum(scopes))
      .min(1)
      .max(scopes.length)
      .exactOptional()
      .describe('All that it may do of what its role may. Left out: everything. Not for the role `agent`.'),
    agent: z
      .string()
      .regex(/^[^\p{C}]{1,128}$/u, 'Send the name of an agent.')
      .exactOptional()
      .describe('The only agent that it may talk to. Not for the role `agent`.'),
    expires_in: z
      .int()
      .min(60)
      .max(LONGEST_SECONDS)
      .exactOptional()
      .describe('In how many seconds it ends. Left out: never.'),
  })
  .superRefine(({ role, workspace, channel, scopes: limited, agent }, context) => {
    if (role === 'agent' && workspace === undefined) {
      context.addIssue({ code: 'custom', path: ['workspace'], message: 'An agent’s token needs a workspace.' })
    }
    for (const [key, value] of Object.entries({ workspace, channel })) {
      if (role === 'agent' || value === undefined) continue
      context.addIssue({ code: 'custom', path: [key], message: `Only the role agent has a ${key}.` })
    }
    for (const [key, value] of Object.entries({ scopes: limited, agent })) {
      if (role !== 'agent' || value === undefined) continue
      context.addIssue({
        code: 'custom',
        path: [key],
        message: `The role agent may only ask and report, so it has no ${key}.`,
      })
    }
  })
export type NewToken = z.input<typeof NewTokenSchema>

const shown = {
  id: z.string(),
  name: z.string(),
  user: z.string(),
  role: z.enum(tokenRoles),
  workspace: z.string().exactOptional().describe('Real path of the folder of an agent’s token.'),
  channel: z.string().exactOptional().describe('Channel of an agent’s token.'),
  scopes: z
    .array(z.enum(scopes))
    .exactOptional()
    .describe('What it is limited to. Left out: everything that its role may do.'),
  agent: z.string().exactOptional().describe('The only agent that it may talk to.'),
  expires_at: z
    .string()
    .exactOptional()
    .describe('When it ends. It is listed for as long again, and at most for 30 days.'),
  created_at: z.string(),
}
const example = {
  id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  name: 'Ada’s laptop',
  user: 'ada',
  role: 'user',
  created_at: '2026-11-15T09:00:00.000Z',
}

export const TokenSchema = z.strictObject(shown).meta({ id: 'Token', example })
/** A token that can be revoked. Its text is never shown. */
export type Token = z.output<typeof TokenSchema>

export const CreatedTokenSchema = z
  .strictObject({ ...shown, token: z.string() })
  .meta({ example: { ...example, token: 'qd_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCde' } })
/** `token` is its text. It is not shown again. */
export type CreatedToken = z.output<typeof CreatedTokenSchema>

export const TokenListSchema = z
  .strictObject({ data_dir: z.string(), tokens: z.array(TokenSchema) })
  .meta({ example: { data_dir: '/var/lib/quarterdeck', tokens: [example] } })
export type TokenList = z.output<typeof TokenListSchema>
