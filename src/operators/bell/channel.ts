import { channelKind } from '../channel-kind.ts'

export const bellChannel = channelKind({
  name: 'bell',
  words: {
    title: 'Terminal',
    short: 'Bell',
    docs: 'answer-in-a-terminal.md',
    help: '`quarterdeck ctl`, and a bell',
    answers: 'yes, with your passphrase',
  },
  settings: {},
  read: () => null,
  contact: null,
  credentials: {},
  isUsed: () => true,
  check: async () => [],
  async open({ terminal, program }) {
    if (terminal === null) return { channels: [], chat: null }
    const { createBell } = await import('./create-bell.ts')
    return { channels: [createBell(terminal, program)], chat: null }
  },
})
