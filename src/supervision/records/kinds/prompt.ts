import type { Prompt, PromptType } from '../../../domain/records/record.ts'
import type { KindView } from '../record-view.ts'
import { agentsWords, duration, fact, grouped, oneLine } from '../record-words.ts'
import { action, interrupted, isPerson, type KindWords, stop, stopped, type Verdict } from './kind-words.ts'

/** A question that an agent elsewhere forwards to its operator. */
export const prompt: KindWords<Prompt> = {
  view,
  body: ({ promptText }) => agentsWords(promptText),
  actions: () => ({ continue: goOn, refine, stop: stopWithReason }),
  verdict,
  endedAlone: ({ status }) => status === 'decided',
}

const PROMPTS: Readonly<Record<PromptType, { asks: string; title: string }>> = {
  continuation: { asks: 'asks whether to go on', title: 'May it go on?' },
  clarification: { asks: 'asks what you mean', title: 'It needs to know more' },
  error_recovery: { asks: 'has run into an error and asks what to do', title: 'It has run into an error' },
  resource_warning: { asks: 'warns that something runs out', title: 'Something runs out' },
}

function view({ promptType, promptText, elapsedSeconds, actionsTaken }: Prompt): KindView {
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
      ...(elapsedSeconds === null ? [] : [fact('Time, it says', duration(elapsedSeconds))]),
      ...(actionsTaken === null ? [] : [fact('Steps, it says', grouped(actionsTaken))]),
    ],
  }
}

const goOn = action('continue', {
  label: 'Continue',
  takes: 'note',
  text: 'an instruction',
  main: true,
  confirm: { title: 'Let the agent go on?', help: 'You can give it something to keep in mind, or leave this empty.' },
  done: 'The agent goes on.',
})

const refine = action('refine', {
  label: 'Do this instead',
  takes: 'text',
  text: 'what to do instead',
  confirm: { title: 'Go on, but differently', help: 'The agent goes on with this instruction.' },
  done: 'The agent gets your text.',
})

const stopWithReason = {
  ...stop,
  takes: 'note',
  text: 'a reason',
  confirm: { title: 'Stop the agent?', help: 'The agent reads the reason. You can leave it out.' },
} as const

const DECISIONS = {
  continue: { word: 'Continued', tone: 'good' },
  refine: { word: 'Told what to do', tone: 'good' },
  stop: stopped,
} as const

function verdict({ status, decision, decidedBy, instruction }: Prompt): Verdict | null {
  if (status === 'pending') return null
  if (status === 'interrupted' || decision === null) return interrupted
  const goesOn = decision === 'continue' ? 'so it goes on by itself' : 'so the agent was told to stop'
  return {
    ...DECISIONS[decision],
    more: isPerson(decidedBy) ? '' : `Nobody answered in time, ${goesOn}.`,
    words: instruction === null ? null : { title: 'Instruction', text: instruction },
  }
}
