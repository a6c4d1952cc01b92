import { z } from 'zod'
import { RecordViewSchema as WordsSchema } from '../../../supervision/records/record-view.ts'

const RequestSchema = z
  .strictObject({
    path: z.string(),
    body: z.record(z.string(), z.unknown()),
    text: z.string().nullable().describe('The field of the body for the text of the person. Null: it takes none.'),
  })
  .describe('What to POST. Add the text, the answer or the edit of the person to the body.')

/** The words of a record for a page or a program that shows it. */
export const RecordViewSchema = WordsSchema.extend({
  actions: z
    .array(WordsSchema.shape.actions.element.extend({ request: RequestSchema }))
    .describe('What can be answered now. Empty: it is over.'),
})
  .describe('The record in words. Every surface of ours shows these.')
  .meta({ id: 'RecordView' })

/** A record in words. `answer` of the client sends one of its actions. */
export type RecordView = z.output<typeof RecordViewSchema>

const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'

const exampleAction = (
  name: RecordView['actions'][number]['name'],
  label: string,
  words: Partial<RecordView['actions'][number]>,
): RecordView['actions'][number] => ({
  name,
  label,
  takes: 'nothing',
  text: '',
  main: true,
  danger: false,
  confirm: { title: `${label}?`, help: '' },
  done: 'Done.',
  choices: [],
  request: { path: '', body: {}, text: null },
  ...words,
})

/** Of a prompt. */
export const exampleView: RecordView = {
  id,
  kind: 'prompt',
  label: 'Question from an agent',
  mark: 'prompt',
  agent: 'claude-code',
  folder: '/home/ada/shop',
  session: { id: '0192f3a1-7b2c-7def-8abc-0123456789ac', title: 'Renew the shop' },
  owner: 'ada',
  asks: 'asks whether to go on',
  title: 'May it go on?',
  gist: 'The tests pass. Shall I also update the docs?',
  brief: 'May it go on?',
  risk: null,
  warnings: [],
  facts: [{ name: 'Worked', text: '5 min 40 s', at: null, minor: false }],
  body: [
    {
      type: 'prose',
      title: 'In the agent’s words',
      by: 'agent',
      text: 'The tests pass. Shall I also update the docs?',
    },
  ],
  actions: [
    exampleAction('continue', 'Continue', {
      takes: 'note',
      text: 'an instruction',
      confirm: {
        title: 'Let the agent go on?',
        help: 'You can give it something to keep in mind, or leave this empty.',
      },
      done: 'The agent goes on.',
      request: { path: `/prompts/${id}`, body: { decision: 'continue' }, text: 'instruction' },
    }),
  ],
  outcome: null,
  asked_at: '2026-11-15T09:00:00.000Z',
  expires_at: '2026-11-15T09:30:00.000Z',
}

export const exampleStandbyView: RecordView = {
  ...exampleView,
  kind: 'wait',
  label: 'Agent stands by',
  mark: 'standby',
  asks: 'waits for an instruction',
  title: 'What should it do next?',
  gist: 'The migration is done. What next?',
  brief: 'It stands by until you tell it what to do.',
  facts: [],
  body: [],
  actions: [
    exampleAction('resume', 'Resume', {
      takes: 'optional_text',
      text: 'what to do next',
      done: 'The agent goes on.',
      request: { path: `/waits/${id}`, body: {}, text: 'instruction' },
    }),
  ],
  expires_at: null,
}

export const exampleAlertView: RecordView = {
  ...exampleStandbyView,
  kind: 'alert',
  label: 'Silent agent',
  mark: 'silence',
  asks: 'has been silent for more than 5 min',
  title: 'Silent for more than 5 min',
  gist: 'after heartbeat',
  brief: 'No sign of life for more than 5 min.',
  actions: [
    exampleAction('nudge', 'Nudge', {
      takes: 'optional_text',
      text: 'a message',
      done: 'The agent is nudged.',
      request: { path: `/alerts/${id}/nudge`, body: {}, text: 'message' },
    }),
  ],
}

export const exampleApprovalView: RecordView = {
  ...exampleStandbyView,
  kind: 'approval',
  label: 'Tool call',
  mark: 'call',
  agent: 'assistant',
  folder: null,
  asks: 'asks to call a tool',
  title: 'send_email',
  gist: 'to: bob@example.com',
  brief: 'Tool send_email',
  risk: { level: 'high', why: null },
  actions: [
    exampleAction('approve', 'Approve', {
      done: 'Approved.',
      request: { path: `/approvals/${id}`, body: { decision: 'approve', digest: '9f86d081…' }, text: null },
    }),
  ],
  expires_at: '2026-11-15T10:00:00.000Z',
}

/** For an example in which the words stand elsewhere. */
export const withoutView = <T extends { view: unknown }>({ view: _, ...rest }: T) => rest
