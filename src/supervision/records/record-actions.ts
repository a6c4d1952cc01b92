// What a person can answer to a record, and the words for it.

import type { Approval, PersonRecord } from '../../domain/records/record.ts'
import { unreachable } from '../../domain/unreachable.ts'
import { choicesOf } from './question-choices.ts'
import type { ActionName, RecordAction } from './record-view.ts'

type Words = Omit<RecordAction, 'name' | 'text' | 'main' | 'danger' | 'choices'> &
  Partial<Pick<RecordAction, 'text' | 'main' | 'danger' | 'choices'>>

const action = (name: ActionName, words: Words): RecordAction => ({
  name,
  text: '',
  main: false,
  danger: false,
  choices: [],
  ...words,
})

/** Of a record that waits. In the order in which they are shown. */
export function actionsOf(record: PersonRecord): RecordAction[] {
  switch (record.wait) {
    case 'approval':
      return record.kind === 'question' ? [answerTo(record), noAnswer] : [approve, ...editOf(record), reject]
    case 'prompt':
      return [goOn, refine, stopPrompt]
    case 'standby':
      return [resume, stopStandby]
    case 'alert':
      return [nudge, dismiss, stopSession]
    default:
      return unreachable(record)
  }
}

/** Whether a record of this kind can be answered so, also if it is over. */
export const takesAction = (record: PersonRecord, name: ActionName): boolean =>
  actionsOf(record).some((one) => one.name === name)

const approve = action('approve', {
  label: 'Approve',
  takes: 'nothing',
  main: true,
  confirm: { title: 'Approve it?', help: 'It runs as it is shown.' },
  done: 'Approved.',
})

const reject = action('reject', {
  label: 'Reject',
  takes: 'note',
  text: 'a reason',
  danger: true,
  confirm: { title: 'Reject it?', help: 'The agent reads the reason. You can leave it out.' },
  done: 'Rejected.',
})

const noAnswer: RecordAction = {
  ...reject,
  label: 'No answer',
  confirm: { title: 'Refuse to answer?', help: 'The agent reads the reason. You can leave it out.' },
}

/** A file that goes has no text to edit, and a policy is taken as it is. */
function editOf({ kind, supervised }: Approval): RecordAction[] {
  if (kind === 'policy' || supervised?.change?.kind === 'delete') return []
  const what = kind === 'diff' ? 'the whole file' : 'other arguments'
  return [
    action('edit', {
      label: 'Edit',
      takes: 'edit',
      text: what,
      confirm: { title: 'Edit, then approve', help: `It runs with ${what} in place of what the agent wrote.` },
      done: 'Approved as edited.',
    }),
  ]
}

const answerTo = ({ question }: Approval): RecordAction =>
  action('answer', {
    label: 'Answer',
    takes: 'answer',
    text: 'your answer',
    main: true,
    confirm: { title: 'Answer it?', help: 'The tool gets your answer.' },
    done: 'Answered.',
    choices: question === undefined ? [] : choicesOf(question.schema),
  })

const goOn = action('continue', {
  label: 'Continue',
  takes: 'note',
  text: 'an instruction',
  main: true,
  confirm: { title: 'Let the agent go on?', help: 'You can give it something to keep in mind, or leave this empty.' },
  done: 'The agent goes on.',
})

const refine = action('refine', {
  label: 'Refine',
  takes: 'text',
  text: 'what to do instead',
  confirm: { title: 'Go on, but differently', help: 'The agent goes on with this instruction.' },
  done: 'The agent gets your text.',
})

const stopPrompt = action('stop', {
  label: 'Stop',
  takes: 'note',
  text: 'a reason',
  danger: true,
  confirm: { title: 'Stop the agent?', help: 'The agent reads the reason. You can leave it out.' },
  done: 'The agent is told to stop.',
})

const resume = action('resume', {
  label: 'Resume',
  takes: 'optional_text',
  text: 'what to do next',
  main: true,
  confirm: { title: 'Let the agent go on?', help: 'It goes on with your instruction, or without one.' },
  done: 'The agent goes on.',
})

const stopStandby: RecordAction = {
  ...stopPrompt,
  takes: 'nothing',
  text: '',
  confirm: { title: 'Stop the agent?', help: 'The agent is told that there is nothing more to do.' },
}

const nudge = action('nudge', {
  label: 'Nudge',
  takes: 'optional_text',
  text: 'a message',
  main: true,
  confirm: { title: 'Nudge the agent?', help: 'It is told to go on. It reads your message when it wakes up.' },
  done: 'The agent is nudged.',
})

const dismiss = action('dismiss', {
  label: 'Dismiss',
  takes: 'nothing',
  confirm: { title: 'Is the silence fine?', help: 'The next silence counts from here.' },
  done: 'Dismissed. The next silence counts from here.',
})

const stopSession: RecordAction = {
  ...stopStandby,
  label: 'Stop session',
  confirm: { title: 'Stop the session?', help: 'The session of this agent ends. What it has written stays.' },
  done: 'The session is stopped.',
}
