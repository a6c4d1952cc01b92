// Where a session's questions are shown. An agent may choose the mode, so no mode may silence its operator.

import type { Risk } from '../../domain/agent/tool-settings.ts'
import type { OperationalMode } from '../../domain/supervision/supervision.ts'

/** `local`: at the terminal of this machine. `remote`: in a chat, on a phone, at a webhook. */
export type Surface = 'local' | 'remote'

const BOTH: readonly Surface[] = ['local', 'remote']

/** What is critical is shown everywhere. A mode without a configured surface acts as `hybrid`. */
export function surfacesOf(
  mode: OperationalMode,
  configured: ReadonlySet<Surface>,
  risk: Risk | null = null,
): readonly Surface[] {
  if (mode === 'hybrid' || risk === 'critical' || !configured.has(mode)) return BOTH
  return [mode]
}

/** What a mode means on this server, if it is not what its name says. */
export const createExplainMode =
  (configured: ReadonlySet<Surface>) =>
  (mode: OperationalMode): string | null =>
    mode === 'hybrid' || configured.has(mode)
      ? null
      : `No ${mode} channel is configured here, so ${mode} acts as hybrid: your questions are shown everywhere.`
