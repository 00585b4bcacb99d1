/** The one lane of a file; its cursor is the number of the next line or element. */
export const FILE_LANE = 'file';
