import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import styles from './Button.module.css'

/** A page has at most one `primary` button. `danger` is for what cannot be undone. */
export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: ButtonKind
  /** A picture before the text. */
  icon?: ReactNode
  /** The key that does the same, shown beside the text. */
  hint?: string | undefined
  isBusy?: boolean
  ref?: Ref<HTMLButtonElement>
}

/** While busy or disabled it keeps its focus and takes no press. */
export function Button({
  kind = 'plain',
  icon,
  hint,
  isBusy = false,
  disabled = false,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const isOff = isBusy || disabled
  return (
    <button
      type="button"
      {...rest}
      className={[styles.button, styles[kind], rest.className].filter(Boolean).join(' ')}
      aria-busy={isBusy || undefined}
      aria-disabled={isOff || undefined}
      // A disabled button would lose its focus, and the reader of the page with it.
      onClick={isOff ? (event) => event.preventDefault() : onClick}
    >
      {icon}
      {children !== undefined && <span>{children}</span>}
      {hint !== undefined && <kbd className={`${styles.hint} ${hint.length === 1 ? styles.letter : ''}`}>{hint}</kbd>}
    </button>
  )
}

interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon' | 'hint'> {
  /** What a screen reader says, and the tooltip. */
  label: string
  icon: ReactNode
}

export function IconButton({ label, icon, kind = 'quiet', ...rest }: IconButtonProps) {
  return <Button {...rest} kind={kind} icon={icon} aria-label={label} title={label} className={styles.square} />
}
