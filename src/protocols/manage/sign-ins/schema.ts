import { z } from 'zod'

const time = z.iso.datetime()

export const McpSignInSchema = z
  .strictObject({
    id: z.string(),
    server: z.string().describe('Its name in the agent file.'),
    url: z.string(),
    per: z.enum(['server', 'user']).describe('Who signs in: an operator for everybody, or each user.'),
    agents: z.array(z.string()).describe('The agents that use it.'),
    issuer: z.string().nullable().describe('Where somebody is signed in. Null: nobody is.'),
    scope: z.string().nullable().describe('The rights that were given.'),
    signed_in_at: time.nullable(),
    signed_in_by: z.string().nullable(),
    lacks: z.string().nullable().describe('Rights that a call has lacked. Another sign-in asks for them.'),
    problem: z.string().nullable().describe('Why nobody is signed in any more, or why the last try failed.'),
  })
  .meta({
    id: 'McpSignIn',
    example: {
      id: 'crm-1f0c3b2a',
      server: 'crm',
      url: 'https://crm.example.com/mcp',
      per: 'server',
      agents: ['assistant'],
      issuer: 'https://login.example.com',
      scope: 'read write',
      signed_in_at: '2026-11-15T09:00:00.000Z',
      signed_in_by: 'olga',
      lacks: null,
      problem: null,
    },
  })
export type McpSignIn = z.output<typeof McpSignInSchema>

export const McpSignInLinkSchema = z
  .strictObject({
    link: z.url().describe('To open in a browser, within 10 minutes. It works once.'),
  })
  .meta({
    id: 'McpSignInLink',
    example: { link: 'https://login.example.com/auth?client_id=…&state=…' },
  })
export type McpSignInLink = z.output<typeof McpSignInLinkSchema>
