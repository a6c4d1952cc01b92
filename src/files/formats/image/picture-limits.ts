/** A few bytes can declare any size; a larger one is refused before it is unpacked. Phones take 48 megapixels and more. */
export const MAX_PIXELS = 100_000_000
/** An A4 page at 300 dpi. More costs time and gives no better words. */
export const ENOUGH_PIXELS = 9_000_000
/** Of a page of a PDF that is drawn; it may be declared as large as a house. */
export const MAX_DRAWN_PIXELS = 6_000_000
