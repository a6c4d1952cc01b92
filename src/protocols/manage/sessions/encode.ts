import { isoTime } from '../../../domain/clock.ts'
import type { RunSummary } from '../../../domain/session/run.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Run } from './schema.ts'

/** A run in a list. Ids are the client's own if it chose them. */
export function runView(run: RunSummary, session: SessionRecord | null): Run {
  return {
    run_id: run.wireId,
    session_id: session?.alias ?? run.sessionId,
    parent_run_id: run.parentRunId,
    status: run.status,
    created_at: isoTime(run.createdAt),
    started_at: time(run.startedAt),
    // A waiting run has ended on the wire, but it is not finished.
    finished_at: run.status === 'waiting' ? null : time(run.finishedAt),
    usage: run.usage.map((usage) => ({
      provider: usage.provider,
      model: usage.model,
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      total_tokens: usage.totalTokens,
      reasoning_tokens: usage.reasoningTokens,
      cached_input_tokens: usage.cachedInputTokens,
      cache_write_input_tokens: usage.cacheWriteInputTokens,
    })),
    error: run.error && { code: run.error.code, message: run.error.message },
  }
}

/** What an operator sees of somebody else's run. Names that its client chose are only for its owner, so this has ids of ours. */
export const foreignRunView = (run: RunSummary): Run => ({ ...runView(run, null), run_id: run.id })

const time = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))
