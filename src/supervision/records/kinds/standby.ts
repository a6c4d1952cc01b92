import type { Standby } from '../../../domain/records/record.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import type { KindView } from '../record-view.ts'
import { agentsWords, oneLine } from '../record-words.ts'
import { action, interrupted, type KindWords, stop, stopped, type Verdict } from './kind-words.ts'

/** An agent elsewhere that waits to hear what to do next. */
export const standby: KindWords<Standby> = {
  view,
  body: ({ message }) => agentsWords(message),
  actions: () => ({ resume, stop }),
  verdict,
  endedAlone: ({ status }) => status === 'timeout',
}

function view({ message }: Standby): KindView {
  return {
    label: 'Agent stands by',
    mark: 'standby',
    asks: 'waits for an instruction',
    title: 'What should it do next?',
    gist: oneLine(message),
    brief: 'It stands by until you tell it what to do.',
    risk: null,
    facts: [],
  }
}

const resume = action('resume', {
  label: 'Resume',
  takes: 'optional_text',
  text: 'what to do next',
  main: true,
  confirm: { title: 'Let the agent go on?', help: 'It goes on with your instruction, or without one.' },
  done: 'The agent goes on.',
})

function verdict({ status, instruction }: Standby): Verdict | null {
  switch (status) {
    case 'pending':
      return null
    case 'interrupted':
      return interrupted
    case 'timeout':
      return { word: 'Timed out', tone: 'neutral', more: 'Nobody answered in time, and the agent knows.' }
    case 'resumed':
      if (instruction === 'stop') return stopped
      return {
        word: 'Resumed',
        tone: 'good',
        words: instruction === null ? null : { title: 'Instruction', text: instruction },
      }
    default:
      return unreachable(status)
  }
}
