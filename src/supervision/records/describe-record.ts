// A record in words, once for all surfaces.

import { isoTime } from '../../domain/clock.ts'
import {
  type Alert,
  isWaiting,
  NOBODY_WAITS,
  nobodyWaitsSince,
  type PersonRecord,
  type Prompt,
  type PromptType,
  type Standby,
} from '../../domain/records/record.ts'
import { unreachable } from '../../domain/unreachable.ts'
import { describeApproval } from './describe-approval.ts'
import { outcomeOf } from './describe-outcome.ts'
import { actionsOf } from './record-actions.ts'
import type { BodyPart, KindView, RecordFact, RecordScene, RecordView } from './record-view.ts'
import { duration, fact, oneLine, prose, timeOf, times } from './record-words.ts'

/** What a record says by itself. */
const NO_SCENE: RecordScene = { folder: null, title: null, status: null, prompt: null }

export function describe(record: PersonRecord, scene = NO_SCENE): RecordView {
  const { warnings = [], facts, ...kind } = kindView(record, scene)
  const leftAt = nobodyWaitsSince(record)
  return {
    id: record.id,
    kind: record.wait === 'standby' ? 'wait' : record.wait,
    agent: record.supervised?.host ?? record.agent,
    folder: scene.folder,
    session: { id: record.sessionId, title: scene.title },
    owner: record.owner,
    ...kind,
    warnings: [...warnings, ...(leftAt === null ? [] : [NOBODY_WAITS])],
    facts: [...facts, ...(leftAt === null ? [] : [fact('The caller left', '', { at: leftAt })])],
    actions: isWaiting(record) ? actionsOf(record) : [],
    outcome: outcomeOf(record, scene),
    asked_at: isoTime(record.createdAt),
    expires_at: timeOf(record.expiresAt),
  }
}

/** For a list, in which nobody looks at what is behind a question. */
export const describeInShort = (record: PersonRecord, scene = NO_SCENE): RecordView => ({
  ...describe(record, scene),
  body: [],
})

function kindView(record: PersonRecord, scene: RecordScene): KindView {
  switch (record.wait) {
    case 'approval':
      return describeApproval(record, scene)
    case 'prompt':
      return describePrompt(record)
    case 'standby':
      return describeStandby(record)
    case 'alert':
      return describeAlert(record, scene)
    default:
      return unreachable(record)
  }
}

const PROMPTS: Readonly<Record<PromptType, { asks: string; title: string }>> = {
  continuation: { asks: 'asks whether to go on', title: 'May it go on?' },
  clarification: { asks: 'asks what you mean', title: 'It needs to know more' },
  error_recovery: { asks: 'has run into an error and asks what to do', title: 'It has run into an error' },
  resource_warning: { asks: 'warns that something runs out', title: 'Something runs out' },
}

function describePrompt({ promptType, promptText, elapsedSeconds, actionsTaken }: Prompt): KindView {
  const { asks, title } = PROMPTS[promptType]
  return {
    label: 'Question from an agent',
    mark: promptType === 'error_recovery' ? 'error' : 'prompt',
    asks,
    title,
    gist: oneLine(promptText),
    brief: `${title}${title.endsWith('?') ? '' : '.'}`,
    risk: null,
    facts: [
      ...(elapsedSeconds === null ? [] : [fact('Worked, it says', duration(elapsedSeconds))]),
      ...(actionsTaken === null ? [] : [fact('Actions, it says', actionsTaken.toLocaleString('en'))]),
    ],
    body: agentsWords(promptText),
  }
}

const describeStandby = ({ message }: Standby): KindView => ({
  label: 'Agent stands by',
  mark: 'standby',
  asks: 'waits for an instruction',
  title: 'What should it do next?',
  gist: oneLine(message),
  brief: 'It stands by until you tell it what to do.',
  risk: null,
  facts: [],
  body: agentsWords(message),
})

function describeAlert(alert: Alert, { prompt }: RecordScene): KindView {
  const { status, idleSeconds, lastTool, nudgeCount, nudgeMessage, progressSnapshot } = alert
  const silent = duration(idleSeconds)
  const isEscalated = status === 'escalated'
  return {
    label: 'Silent agent',
    mark: isEscalated ? 'alarm' : 'silence',
    asks: isEscalated ? 'is still silent after all nudges' : `is silent for ${silent}`,
    title: `Silent for ${silent}`,
    gist: lastTool === null ? '' : `after ${oneLine(lastTool)}`,
    brief: `No sign of life for ${silent}.${nudgeCount === 0 ? '' : ` Nudged ${times(nudgeCount)}.`}`,
    risk: null,
    facts: alertFacts(alert),
    body: [
      prose('', 'server', 'It may sit in a dialog of its own, or be done.'),
      ...prose('The last nudge', 'person', nudgeMessage),
      ...prose('It was started with', 'person', prompt),
      ...(progressSnapshot === null || progressSnapshot.length === 0
        ? []
        : [{ type: 'steps' as const, title: 'What it says it has done', steps: progressSnapshot }]),
    ].flat(),
  }
}

function alertFacts({ lastTool, lastActivityAt, nudgeCount, lastNudgeAt, nudgedBy }: Alert): RecordFact[] {
  const way = nudgedBy === null ? 'it waits for the agent’s next call' : `through ${nudgedBy}`
  return [
    fact('Last tool', lastTool ?? 'none'),
    fact('Last heard of', '', { at: lastActivityAt }),
    ...(nudgeCount === 0 ? [] : [fact('Nudged', `${times(nudgeCount)}, ${way}`, { at: lastNudgeAt })]),
  ]
}

const agentsWords = (text: string): BodyPart[] => prose('In the agent’s words', 'agent', text)
