// What every surface shows of a record: a card in Slack, a page of the console, lines of a terminal, a line on a phone. They lay it out and
// say nothing of their own, so that a record has the same words everywhere. The texts of agents, tools and people are as they were
// stored: each surface makes them harmless in its own way.

import { z } from 'zod'
import { risks } from '../../domain/agent/tool-settings.ts'
import { actionNames, anyOf, wireKinds } from '../../domain/records/record-kinds.ts'
import { rememberScopes } from '../../domain/supervision/decision.ts'

const text = z.string()
const time = z.iso.datetime()

/** See `WorkMatch`. */
export const WorkMatchSchema = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('command'), command: text.max(10_000), folder: text.max(4_096) }),
    z.strictObject({ type: z.literal('begins'), words: z.array(text.max(1_000)).min(1).max(100) }),
    z.strictObject({ type: z.literal('tool'), tool: text.max(500) }),
    z.strictObject({ type: z.literal('writes'), pattern: text.max(4_096) }),
  ])
  .describe('Which work a remembered decision is about: a command, commands that begin so, a tool, or writes.')

/** A picture for it. Surfaces have their own. */
export const marks = [
  'call',
  'question',
  'change',
  'tool',
  'policy',
  'prompt',
  'error',
  'standby',
  'silence',
  'alarm',
] as const

const Fact = z
  .strictObject({
    name: text,
    text,
    at: time.nullable(),
    minor: z.boolean().describe('Few people need it: an id, a hash.'),
  })
  .describe('Something about the record, such as `Last tool: Bash`.')

const prose = z.strictObject({
  type: z.literal('prose'),
  title: text,
  by: z
    .enum(['agent', 'tool', 'person', 'server'])
    .describe('Whose words they are. What an agent says about its work proves nothing.'),
  text,
})
const diff = z.strictObject({
  type: z.literal('diff'),
  title: text,
  path: text.exactOptional().describe('Of a change of several files: which one, as `changes` names it.'),
  text: text.describe('Every hidden character is marked.'),
})
const given = z
  .strictObject({
    type: z.literal('arguments'),
    title: text,
    text: text.describe('In short, with secrets masked.'),
    whole: z.record(text, z.unknown()).describe('All of them, with secrets masked.'),
  })
  .describe('Of two, the second is what an operator put in the place of the first: it runs.')
const lines = z.int().min(0)
const Changes = z
  .strictObject({
    total: lines.describe('How many files.'),
    added_lines: lines,
    removed_lines: lines,
    files: z
      .array(
        z.strictObject({
          path: text.describe('Relative to the workspace, exactly as a decision names it.'),
          kind: z.enum(['create', 'modify', 'delete']),
          added_lines: lines,
          removed_lines: lines,
          risk: z.enum(risks),
          binary: z.boolean().describe('It is not text, so nobody sees what is in it.'),
          warnings: z.array(text),
          fate: z
            .enum(['written', 'not_written', 'left', 'discarded'])
            .nullable()
            .describe('What became of it. `left`: it stays in the agent’s copy for later. Null: nothing yet.'),
        }),
      )
      .describe('In lists only the first ones.'),
    left: z
      .array(z.strictObject({ path: text, why: text }))
      .describe('What the agent changed and nobody can approve, such as a link. Its path has marks.'),
  })
  .describe('Of a change of several files: each of them.')
const steps = z.strictObject({
  type: z.literal('steps'),
  title: text,
  steps: z.array(z.strictObject({ label: text, status: z.enum(['done', 'in_progress', 'pending']) })),
})

const Action = z.strictObject({
  name: z.enum(actionNames),
  label: text,
  takes: z
    .enum(['nothing', 'text', 'optional_text', 'note', 'answer', 'edit'])
    .describe(
      '`text`: a text is needed. `optional_text`: it may come with one, which the agent then follows. `note`: words may go along, such as a reason. `answer`: an answer to the question. `edit`: other arguments, or another text of the file.',
    ),
  text: text.describe('What the text is: `a reason`. Empty: it takes none.'),
  main: z.boolean().describe('What most people do.'),
  danger: z.boolean().describe('It ends or refuses something.'),
  confirm: z.strictObject({ title: text, help: text }).describe('For a surface that asks before it sends.'),
  done: text.describe('What to say when it is done.'),
  choices: z
    .array(z.strictObject({ label: text, answer: z.unknown() }))
    .describe('Of a question with few answers: each of them. Empty: the answer is written.'),
})

const Outcome = z.strictObject({
  word: text,
  tone: z.enum(['good', 'bad', 'warn', 'neutral']),
  by: text.nullable().describe('Null: nobody decided it.'),
  at: time.nullable(),
  via: text.nullable().describe('Where it was decided: `in Slack`.'),
  reason: text.nullable(),
  more: text.describe('What it means. Empty: it needs no saying.'),
  words: z.strictObject({ title: text, text }).nullable().describe('What the person wrote: an answer, an instruction.'),
  facts: z.array(Fact),
})

const Context = z
  .strictObject({
    request: text.nullable().describe('What the user asked the agent for.'),
    said: text.nullable().describe('The last words of the agent.'),
    tool: text.nullable().describe('What the tool does, as it says itself.'),
    before: text.nullable().describe('What was decided about the like before.'),
    still_since: time.describe('Since when the agent stands still.'),
  })
  .describe('What somebody who was not there needs to decide. One line each.')

const Remember = z.strictObject({
  yes: z.boolean().describe('A yes may be remembered. False: only a no, because it is critical.'),
  scopes: z.array(z.enum(rememberScopes)),
  matches: z
    .array(z.strictObject({ label: text.describe('`Commands that begin with npm test`.'), match: WorkMatchSchema }))
    .describe('Of an agent elsewhere: what a yes or a no may cover, the narrowest first. Empty: the same call.'),
})

export const RecordViewSchema = z.strictObject({
  id: text,
  kind: text.describe(`${anyOf(wireKinds.map((kind) => `\`${kind}\``))}.`),
  label: text.describe('Its kind in words: `Change of a file`.'),
  mark: z.enum(marks),
  agent: text.describe('The program of an agent elsewhere, or the name of our own agent.'),
  folder: text.nullable().describe('Where the agent works. Null: nowhere, or not known here.'),
  session: z.strictObject({ id: text, title: text.nullable() }),
  owner: text,
  asks: text.describe('What the agent does, after its name: `asks to change a file`.'),
  title: text.describe('What it is about, in one line.'),
  gist: text.describe('What stands behind the title in a list: what an agent or a tool says, in one line.'),
  brief: text.describe('For a locked screen: no arguments, and nothing that an agent or a tool says.'),
  risk: z.strictObject({ level: z.enum(risks), why: text.nullable() }).nullable(),
  warnings: z.array(text),
  changes: Changes.exactOptional(),
  context: Context,
  remember: Remember.nullable().describe('What may be remembered with a yes or a no. Null: nothing.'),
  group: text
    .nullable()
    .describe(
      'Items with the same key are alike and of low risk: `POST /approvals` decides them together. Null: alone.',
    ),
  facts: z.array(Fact),
  body: z
    .array(z.discriminatedUnion('type', [prose, diff, given, steps]))
    .describe('What a person looks at before they answer. Empty in lists: read the record.'),
  actions: z.array(Action).describe('What can be answered now. Empty: it is over.'),
  outcome: Outcome.nullable().describe('Null: it still waits.'),
  asked_at: time,
  expires_at: time.nullable(),
})

export type RecordView = z.output<typeof RecordViewSchema>
export type RecordAction = RecordView['actions'][number]
export type BodyPart = RecordView['body'][number]
export type ChangesView = z.output<typeof Changes>
export type RecordFact = RecordView['facts'][number]
export type RecordOutcome = NonNullable<RecordView['outcome']>
export type Mark = RecordView['mark']

/** What a record does not say itself. */
export interface RecordScene {
  /** Label or path of the workspace; null: there is none. */
  folder: string | null
  /** Of the session; null: it has none. */
  title: string | null
  /** What the agent was started with. */
  prompt: string | null
  context?: Partial<RecordView['context']>
  /** See `groupOf`. */
  group?: string | null
  /** The diff behind an approval as people see it; null: it changes no file, or the diff is gone. Undefined: it is not shown here. */
  diff?: string | null
  /** Of a change of several files: the diff of each. Left out: `diff` has all of them. */
  files?: readonly { path: string; shown: string }[]
}

/** The part of a view that depends on the kind of the record. */
export type KindView = Pick<RecordView, 'label' | 'mark' | 'asks' | 'title' | 'gist' | 'brief' | 'risk'> & {
  warnings?: string[]
  facts: RecordFact[]
  remember?: RecordView['remember']
}
