// When a yes is possible, and what may come with it.

import type { Approval, LookedAt } from 'quarterdeck/client'
import type { Place } from '../../data/place.ts'
import type { Seen } from '../seen/seen.ts'

interface LockFacts {
  risk: Approval['risk']
  /** Of everything that would run. */
  seen: Seen
  /** Nothing has changed, and the window has had the focus, for a moment: no press was meant for something else. */
  isSettled: boolean
  isLive: boolean
  /** Where several people have to say yes: this person has. */
  hasSaidYes: boolean
}

/** Why somebody may look at this and not decide. Null: they may decide. */
export function whyNotYours(
  { answerable_by }: Pick<Approval, 'answerable_by'>,
  { role }: Pick<Place, 'role'>,
): string | null {
  if (role === 'operator' || (role === 'user' && answerable_by === 'owner')) return null
  return answerable_by === 'owner' ? 'To decide, sign in with a token: Settings.' : 'An operator decides about this.'
}

/** Why the button does nothing yet. Null: it works. */
export function lockReason({ risk, seen, isSettled, isLive, hasSaidYes }: LockFacts): string | null {
  if (!isLive) return 'Not connected. You can decide when the server answers again.'
  if (hasSaidYes) return 'You have said yes. Somebody else has to say yes too.'
  if (risk !== 'low' && !seen.hasEnd) return 'Scroll to the end to approve: you have not seen all of it.'
  if (!isSettled) return 'One moment: this has just come up.'
  return null
}

/** A yes to what is critical is asked for once more, and so is one to something that the person has not looked at. */
export const needsDialog = ({ risk }: Pick<Approval, 'risk'>, { whole }: LookedAt): boolean =>
  risk === 'critical' || (risk === 'high' && !whole)
