import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react'
import { IconButton } from './Button.tsx'
import styles from './Menu.module.css'

export interface MenuEntry {
  name: string
  icon?: ReactNode
  run: () => void
  isDanger?: boolean
  /** Why it cannot be done now. It stays in the menu, so that people find it and learn why. */
  whyNot?: string | null
}

interface MenuProps {
  label: string
  icon: ReactNode
  /** Null: a line between two groups. */
  entries: readonly (MenuEntry | null)[]
}

/** A button that opens a list of commands, in the top layer of the browser: nothing cuts it off, and a press beside it closes it. */
export function Menu({ label, icon, entries }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  // A list of many rows has many menus. Only the open one is in the page.
  const [isOpen, setOpen] = useState(false)
  const id = useId()

  useLayoutEffect(() => {
    if (isOpen && list.current !== null && button.current !== null) show(list.current, button.current)
  }, [isOpen])

  function close(): void {
    list.current?.hidePopover()
    button.current?.focus()
  }

  function onKeyDown(event: KeyboardEvent): void {
    const items = itemsIn(list.current)
    const at = items.indexOf(document.activeElement as HTMLElement)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key]
    if (next !== undefined) {
      event.preventDefault()
      items[(next + items.length) % items.length]?.focus()
    } else if (event.key === 'Tab') close()
    // The keys of the page must not act on it meanwhile.
    if (event.key !== 'Escape') event.stopPropagation()
  }

  return (
    <>
      <IconButton
        ref={button}
        label={label}
        icon={icon}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => (isOpen ? close() : setOpen(true))}
      />
      {isOpen && (
        <div
          ref={list}
          id={id}
          popover="auto"
          role="menu"
          tabIndex={-1}
          aria-label={label}
          className={styles.menu}
          onToggle={(event) => {
            if (event.newState !== 'closed') return
            if (list.current?.contains(document.activeElement)) button.current?.focus()
            setOpen(false)
          }}
          onKeyDown={onKeyDown}
        >
          {entries.map((entry, i) =>
            entry === null ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines are all the same
              <hr key={i} className={styles.line} />
            ) : (
              <button
                key={entry.name}
                type="button"
                role="menuitem"
                tabIndex={-1}
                className={`${styles.entry} ${entry.isDanger ? styles.danger : ''}`}
                aria-disabled={(entry.whyNot ?? null) !== null || undefined}
                onClick={() => {
                  if ((entry.whyNot ?? null) !== null) return
                  close()
                  entry.run()
                }}
              >
                {entry.icon}
                <span>
                  {entry.name}
                  {(entry.whyNot ?? null) !== null && <span className={styles.why}>{entry.whyNot}</span>}
                </span>
              </button>
            ),
          )}
        </div>
      )}
    </>
  )
}

/** Below the button or above it, wherever there is space. */
function show(menu: HTMLElement, opener: HTMLElement): void {
  menu.showPopover()
  const { bottom, top, left, right } = opener.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = menu
  const isBelow = bottom + height + EDGE < window.innerHeight || top < height
  const isRtl = getComputedStyle(opener).direction === 'rtl'
  const x = Math.min(window.innerWidth - width - EDGE, isRtl ? left : right - width)
  menu.style.top = `${isBelow ? bottom + 4 : top - height - 4}px`
  menu.style.left = `${Math.max(EDGE, x)}px`
  itemsIn(menu)[0]?.focus()
}

/** From the edge of the window. */
const EDGE = 8

const itemsIn = (menu: HTMLElement | null): HTMLElement[] => [
  ...(menu?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? []),
]
