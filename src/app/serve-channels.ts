// Channels at work: what is in the outbox is delivered, and what people answer there is handed in.

import type { ChatServices } from '../operators/chat.ts'
import type { Working } from './create-services.ts'

/** `undo` ends it before the services that people answer to. */
export function serveChannels(parts: Working, undo: AsyncDisposableStack): void {
  const { outbox, chat } = parts
  const takeAnswers = chat?.takeAnswers(chatServices(parts)) ?? (async () => {})
  // One process delivers and listens: what it posted is fresh in its memory when somebody answers.
  const serving = parts.services.jobs.whileHeld('channels', async (signal) => {
    await Promise.all([outbox.deliver(signal), takeAnswers(signal)])
  })
  undo.defer(() => serving.close())
}

function chatServices({ settings, services, clock, log: logger }: Working): ChatServices {
  const { answer, approvals, elsewhere, work, spawner, inbox, oversight, noteShown, noteRefused } = services
  const { slack, commands, workspaces } = settings.supervision
  return {
    answer,
    sessions: elsewhere.sessions,
    noteShown,
    noteRefused,
    commands: {
      sessions: elsewhere.sessions,
      stalls: elsewhere.stalls,
      checkpoints: work.checkpoints,
      commands: work.commands,
      spawner,
      inbox,
      approvals,
      oversight,
      aliases: Object.keys(commands),
      workspaces,
      defaultChannelId: slack.channelId,
      clock,
      logger,
    },
  }
}
