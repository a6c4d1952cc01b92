// What can be answered to an approval.

import type { Approval } from '../../../domain/records/record.ts'
import { choicesOf } from '../question-choices.ts'
import type { RecordAction } from '../record-view.ts'
import { type ActionWords, action } from './kind-words.ts'

export const approvalActions = (approval: Approval): ActionWords =>
  approval.kind === 'question'
    ? { answer: answerTo(approval), reject: noAnswer }
    : { approve: approveOf(approval), edit: editOf(approval), reject }

const approveOf = (approval: Approval): RecordAction =>
  action('approve', {
    label: 'Approve',
    takes: 'nothing',
    main: true,
    confirm: { title: 'Approve it?', help: 'It runs as it is shown.' },
    done: isLastYes(approval) ? 'Approved.' : ONE_OF_SEVERAL,
  })

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

const noAnswer: RecordAction = {
  ...reject,
  label: 'No answer',
  confirm: { title: 'Refuse to answer?', help: 'The agent reads the reason. You can leave it out.' },
}

function editOf(approval: Approval): RecordAction {
  const what = approval.kind === 'diff' ? 'the whole file' : 'other arguments'
  return action('edit', {
    label: 'Edit',
    takes: 'edit',
    text: what,
    confirm: { title: 'Edit, then approve', help: `It runs with ${what} in place of what the agent wrote.` },
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
