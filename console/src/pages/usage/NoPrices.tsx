import { Notice } from '../../parts/approval/Notice.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import styles from './NoPrices.module.css'
import { priceLines } from './price-lines.ts'

/** Names models without a price, with the lines that give them one. */
export function NoPrices({ models, currency }: { models: readonly string[]; currency: string }) {
  if (models.length === 0) return null
  const lines = priceLines(models, currency)
  return (
    <Notice tone="warn">
      <p>
        {models.length === 1 ? 'No price for ' : `No price for ${models.length} models: `}
        <bdi>{models.join(', ')}</bdi>. Put what your provider asks for a million tokens into{' '}
        <code>quarterdeck.yaml</code>, and start the server again:
      </p>
      <div className={styles.lines}>
        <pre>{lines}</pre>
        <CopyButton text={lines} what="lines" />
      </div>
    </Notice>
  )
}
