import { z } from 'zod'

const workspace = z.string().min(1).max(4_096).describe('Absolute path or id of a workspace of this server.')

export const TriedPolicySchema = z
  .strictObject({
    workspace: workspace.exactOptional(),
    session_id: z.string().min(1).max(128).exactOptional().describe('Instead of `workspace`: a supervised session.'),
    tool_name: z.string().min(1).max(200),
    file_path: z.string().min(1).max(4_096).exactOptional().describe('Absolute, or relative to the workspace.'),
    command: z.string().min(1).max(20_000).exactOptional().describe('The command line of a shell tool.'),
    risk_level: z.enum(['low', 'high', 'critical']).default('low'),
  })
  .superRefine(({ workspace, session_id }, context) => {
    if ((workspace === undefined) !== (session_id === undefined)) return
    context.addIssue({ code: 'custom', path: ['workspace'], message: 'Send either workspace or session_id.' })
  })
/** A request that an agent might make. Send either `workspace` or `session_id`. */
export type TriedPolicy = z.input<typeof TriedPolicySchema>

export const PolicyVerdictSchema = z
  .strictObject({
    auto_approved: z.boolean(),
    matched_rule: z.string().nullable(),
    why: z.array(z.string()).describe('What counts in this workspace, then why the request passes or does not.'),
  })
  .meta({
    example: {
      auto_approved: true,
      matched_rule: 'command:npm test',
      why: ['An operator has accepted .quarterdeck/policy.json.', 'The policy allows it: command:npm test'],
    },
  })
export type PolicyVerdict = z.output<typeof PolicyVerdictSchema>

/** 64 KiB is the most that a policy file has. */
const text = z.string().max(65_536)

export const DraftPolicySchema = z.strictObject({
  workspace,
  since: z
    .string()
    .regex(/^[1-9]\d{0,3}[mhd]$/, 'Write 24h or 7d, for example.')
    .default('7d')
    .describe('How far to look back: `24h`, `7d`.'),
  text: text.exactOptional().describe('An edited draft, to see what it would do.'),
})
export type DraftPolicy = z.input<typeof DraftPolicySchema>

const Line = z.strictObject({
  what: z.string(),
  why: z.string(),
  allowed: z.number().int(),
  refused: z.number().int(),
  by: z.array(z.string()).describe('Who decided.'),
})
const counted = { allowed: 12, refused: 0, by: ['ada'] }

export const PolicyDraftSchema = z
  .strictObject({
    workspace: z.string(),
    text: z.string().describe('The policy as the text of a file.'),
    base_sha256: z.string().nullable().describe('Of the policy file that lies there; null: there is none.'),
    lines: z.array(Line).describe('What each line rests on, with examples.'),
    open: z.array(Line).describe('What people are still asked and why, most frequent first.'),
    more: z.number().int().describe('How many are not in `open`.'),
    commands: z.array(z.string()).describe('Lines for `commands` of quarterdeck.yaml, for a draft that covers more.'),
    replay: z.strictObject({
      requests: z.number().int().describe('How many requests were looked at, the newest ones.'),
      cut: z.boolean().describe('There were more.'),
      asked: z.number().int().describe('People were asked about so many of them.'),
      left: z.number().int().describe('They would still have been asked about so many.'),
      against: z.array(z.string()).describe('What a person refused and the text would have let through.'),
    }),
  })
  .meta({
    example: {
      workspace: '/home/ada/shop',
      text: '{"enabled": true, "file_patterns": {"write": ["src/**"]}}',
      base_sha256: null,
      lines: [{ what: 'file_pattern:write:src/**', why: 'For example src/a.ts, src/b.ts', ...counted }],
      open: [{ what: 'make all', why: 'The command is not one of the commands in the server’s settings.', ...counted }],
      more: 0,
      commands: ['  make-all: ["make","all"]'],
      replay: { requests: 80, cut: false, asked: 80, left: 12, against: [] },
    },
  })
export type PolicyDraft = z.output<typeof PolicyDraftSchema>

export const AcceptPolicySchema = z.strictObject({
  workspace,
  text,
  base_sha256: z.string().nullable().default(null).describe('Of the draft. Null: there was no policy file.'),
})
export type AcceptPolicy = z.input<typeof AcceptPolicySchema>

export const AcceptedPolicySchema = z
  .strictObject({
    file: z.string(),
    approval_id: z
      .string()
      .nullable()
      .describe('Null: it counts. Otherwise it is written, and this approval waits for more people or a passkey.'),
  })
  .meta({ example: { file: '.quarterdeck/policy.json', approval_id: null } })
export type AcceptedPolicy = z.output<typeof AcceptedPolicySchema>
