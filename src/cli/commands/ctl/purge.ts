import { PurgedSchema } from '../../../protocols/manage/supervision/checkpoint-schema.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { understood } from './records.ts'
import type { CtlContext } from './run-ctl.ts'

/** Removes what has been kept long enough, now instead of within the hour. */
export async function purge({ dryRun }: { dryRun?: boolean }, context: CtlContext): Promise<void> {
  const answer = await context.server.post('/sessions/purge', dryRun === true ? { dry_run: true } : {})
  const { count, sessions } = understood(PurgedSchema, answer)
  const words = `${count} ${count === 1 ? 'session' : 'sessions'} ${dryRun === true ? 'would be removed' : 'removed'}.`
  context.say(answer, [words, ...sessions.map((id) => `  ${terminalLine(id, 64)}`)].join('\n'))
}
