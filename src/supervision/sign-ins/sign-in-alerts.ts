// The alert that an MCP server needs a sign-in: once, whoever finds out, until somebody has signed in.

import type { Logger } from '../../domain/logger.ts'
import type { Alert } from '../../domain/records/record.ts'
import { LOCAL_USER } from '../../domain/session/session.ts'
import { newRecord } from '../records/records.ts'
import type { Changes, SessionNow, SupervisedSession, TakeStep } from '../sessions/take-step.ts'

interface Wanted {
  name: string
  url: string
}

export interface SignInAlerts {
  /** `user`: who has to sign in; null: an operator. Never rejects. */
  needed(server: Wanted, user: string | null, why: string): Promise<void>
  done(server: Wanted, user: string | null): Promise<void>
}

interface AlertsDeps {
  takeStep: TakeStep
  /** The session that keeps the records of this server, one for each owner: it rests, and no list shows it. */
  sessionOf(owner: string, server: Wanted): Promise<SupervisedSession>
  ids: { uuid(): string }
  logger: Logger
}

export function createSignInAlerts({ takeStep, sessionOf, ids, logger }: AlertsDeps): SignInAlerts {
  async function step(server: Wanted, user: string | null, change: (now: SessionNow) => Changes): Promise<void> {
    try {
      const { id } = await sessionOf(user ?? LOCAL_USER, server)
      await takeStep(id, change)
    } catch (error) {
      logger.warn('the alert of a sign-in could not be written', { mcp_server: server.name, error })
    }
  }

  return {
    needed: (server, user, why) =>
      // `stallsOff` says that it was told. Whoever has dismissed the alert does not want it again.
      step(server, user, (now) =>
        now.session.supervision.stallsOff === true
          ? {}
          : { supervision: { stallsOff: true }, ask: [alertOf(now, ids.uuid(), server, why)] },
      ),
    done: (server, user) =>
      step(server, user, ({ session, waiting, at }) =>
        session.supervision.stallsOff === true
          ? {
              supervision: { stallsOff: false },
              settle: waiting.map(({ id }) => ({ id, patch: { status: 'self_recovered', decidedAt: at } })),
            }
          : {},
      ),
  }
}

const alertOf = (now: SessionNow, id: string, { name, url }: Wanted, why: string): Alert => ({
  ...newRecord(now, id),
  wait: 'alert',
  signIn: { server: name, url, why },
  expiresAt: null,
  callId: '',
  tool: '',
  arguments: '{}',
  supervised: { host: now.session.supervision.host },
  lastTool: null,
  lastActivityAt: now.at,
  idleSeconds: 0,
  nudgeCount: 0,
  nudgeMessage: null,
  lastNudgeAt: null,
  nudgedBy: null,
  progressSnapshot: null,
})
