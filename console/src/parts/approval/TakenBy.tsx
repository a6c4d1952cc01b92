import { useTakenBy } from '../../data/taken.ts'
import { VisibleText } from '../VisibleText.tsx'

/** Another operator has one of these items open. Nobody has to wait for them. */
export function TakenBy({ ids }: { ids: readonly string[] }) {
  const by = useTakenBy(ids)
  return by === null ? null : <VisibleText text={`${by.name} is looking at this`} inline isRaw />
}
