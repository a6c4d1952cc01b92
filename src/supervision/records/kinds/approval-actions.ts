// What can be answered to an approval.

import type { Approval } from '../../../domain/records/record.ts'
import { choicesOf } from '../question-choices.ts'
import type { RecordAction } from '../record-view.ts'
import { type ActionWords, action } from './kind-words.ts'

export const approvalActions = (approval: Approval): ActionWords =>
  approval.kind === 'question'
    ? { answer: answerTo(approval), reject: noAnswer }
    : {
        approve: approveOf(approval),
        edit: editOf(approval),
        reject: approval.kind === 'policy' ? refusePolicy : reject,
      }

/** Fits on a button. Parts of a command are the agent's words, so there is nothing in it that could look like more than a name. */
const LABEL = /^[A-Z][\w ./:@+~-]{0,59}$/

function approveOf(approval: Approval): RecordAction {
  const { kind, action: does, supervised } = approval
  // What a tool of ours says of itself may quote all that its model wrote.
  const isNamed = supervised !== undefined && does !== null && LABEL.test(does)
  return action('approve', {
    label: isNamed ? does : 'Approve',
    takes: 'nothing',
    main: true,
    confirm: { title: isNamed ? `${does}?` : 'Approve it?', help: WHAT_A_YES_DOES[kind] },
    done: isLastYes(approval) ? 'Approved.' : ONE_OF_SEVERAL,
  })
}

const WHAT_A_YES_DOES: Readonly<Record<Approval['kind'], string>> = {
  tool_call: 'It runs as it is shown.',
  permission: 'It runs as it is shown.',
  question: '',
  diff: 'The agent may write it as it is shown.',
  changes: 'The files are written as they are shown, once.',
  policy: 'Agents in this workspace go by it, until the file changes.',
}

const ONE_OF_SEVERAL = 'Your yes counts. Somebody else has to say yes too.'
const isLastYes = ({ quorum = 1, decisions = [] }: Approval): boolean => decisions.length + 1 >= quorum

const reject = action('reject', {
  label: 'Reject',
  takes: 'note',
  text: 'a reason',
  danger: true,
  confirm: { title: 'Reject it?', help: 'The agent reads the reason. You can leave it out.' },
  done: 'Rejected.',
})

const refusePolicy: RecordAction = {
  ...reject,
  confirm: { title: 'Reject it?', help: 'The workspace goes on without this policy. You can say why.' },
}

const noAnswer: RecordAction = {
  ...reject,
  label: 'No answer',
  confirm: { title: 'Refuse to answer?', help: 'The agent reads the reason. You can leave it out.' },
}

const EDITS: Partial<Record<Approval['kind'], { text: string; help: string }>> = {
  diff: { text: 'the whole file', help: 'Your text of the file is written instead.' },
  changes: {
    text: 'which files to leave, to discard and to edit',
    help: 'leave and discard are lists of paths, edit has the whole new text of each path.',
  },
}

function editOf(approval: Approval): RecordAction {
  const { text, help } = EDITS[approval.kind] ?? {
    text: 'other arguments',
    help: 'It runs with your arguments instead.',
  }
  return action('edit', {
    label: 'Edit',
    takes: 'edit',
    text,
    confirm: { title: 'Edit, then approve', help },
    done: isLastYes(approval) ? 'Approved as edited.' : ONE_OF_SEVERAL,
  })
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
