/** The focus goes from a field to the heading of the page, so that keys work again and Tab goes on from there. */
export const leaveField = (): void => document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
