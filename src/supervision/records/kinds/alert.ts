import type { Alert } from '../../../domain/records/record.ts'
import type { BodyPart, KindView, RecordAction, RecordFact, RecordScene } from '../record-view.ts'
import { fact, oneLine, prose, times } from '../record-words.ts'
import { action, isPerson, type KindWords, stop, type Verdict } from './kind-words.ts'

/** An agent elsewhere that has been silent for too long. */
export const alert: KindWords<Alert> = {
  view,
  body: bodyOf,
  actions: ({ signIn }) => (signIn === undefined ? { nudge, dismiss, stop: stopSession } : { dismiss: leave }),
  verdict,
  endedAlone: ({ status }) => status === 'self_recovered',
}

function view(alert: Alert): KindView {
  if (alert.signIn !== undefined) return signInView(alert.signIn)
  const { status, lastTool, nudgeCount } = alert
  const isEscalated = status === 'escalated'
  return {
    label: 'Silent agent',
    mark: isEscalated ? 'alarm' : 'silence',
    // Not for how long: these words are read for as long as it is silent. `still_since` and the facts say since when.
    asks: isEscalated ? 'is still silent after all nudges' : 'has gone silent',
    title: isEscalated ? 'Still silent after all nudges' : 'Gone silent',
    gist: lastTool === null ? '' : `after ${oneLine(lastTool)}`,
    brief: `It gives no sign of life.${nudgeCount === 0 ? '' : ` Nudged ${times(nudgeCount)}.`}`,
    risk: null,
    facts: factsOf(alert),
  }
}

const signInView = ({ server, url }: NonNullable<Alert['signIn']>): KindView => ({
  label: 'Sign-in',
  mark: 'question',
  asks: 'wants somebody to sign in',
  title: `${server} wants somebody to sign in`,
  gist: '',
  brief: 'Its tools are missing until somebody signs in.',
  risk: null,
  facts: [fact('Address', url)],
})

function bodyOf({ signIn, nudgeMessage, progressSnapshot }: Alert, { prompt }: RecordScene): BodyPart[] {
  if (signIn !== undefined) {
    const how = `Sign in on the page of an agent that uses it, or with: quarterdeck connect mcp ${signIn.server}`
    return [...prose('', 'server', signIn.why), ...prose('', 'server', how)]
  }
  return [
    ...prose('', 'server', 'It may sit in a dialog of its own, or be done.'),
    ...prose('The last nudge', 'person', nudgeMessage),
    ...prose('It was started with', 'person', prompt),
    ...(progressSnapshot === null || progressSnapshot.length === 0
      ? []
      : [{ type: 'steps' as const, title: 'Its own list of steps', steps: progressSnapshot }]),
  ]
}

function factsOf({ lastTool, lastActivityAt, nudgeCount, lastNudgeAt, nudgedBy }: Alert): RecordFact[] {
  const way = nudgedBy === null ? 'to be read with the agent’s next call' : `through ${nudgedBy}`
  return [
    fact('Last tool', lastTool ?? 'none'),
    fact('Last heard of', '', { at: lastActivityAt }),
    ...(nudgeCount === 0 ? [] : [fact('Nudged', `${times(nudgeCount)}, ${way}`, { at: lastNudgeAt })]),
  ]
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

const leave = action('dismiss', {
  label: 'Dismiss',
  takes: 'nothing',
  confirm: { title: 'Go on without the server?', help: 'Its tools stay away. You can sign in later all the same.' },
  done: 'Dismissed. Nobody is told again before the next sign-in.',
})

const stopSession: RecordAction = {
  ...stop,
  label: 'Stop session',
  confirm: { title: 'Stop the session?', help: 'The session of this agent ends. What it has written stays.' },
  done: 'The session is stopped.',
}

function verdict({ status, nudgeCount, decidedBy, signIn }: Alert): Verdict | null {
  if (status === 'self_recovered' && signIn !== undefined) return { word: 'Sign-in done', tone: 'good' }
  if (status === 'self_recovered') {
    return { word: recoveredWord(nudgeCount), tone: 'good', more: 'The agent reports again.' }
  }
  if (status !== 'dismissed') return null
  return isPerson(decidedBy)
    ? { word: 'Dismissed', tone: 'neutral' }
    : { word: 'Closed', tone: 'neutral', more: 'The agent’s session has ended.' }
}

/** An agent that was nudged has not come back by itself. */
const recoveredWord = (nudgeCount: number): string =>
  nudgeCount === 0 ? 'Recovered by itself' : `Recovered after ${nudgeCount === 1 ? 'a nudge' : `${nudgeCount} nudges`}`
