import { useState } from 'preact/hooks';

/** Tells whether a keyboard's focus is in a list. A click's focus does not count. */
export function useKeyboardFocus() {
  const [isInside, setInside] = useState(false);
  return {
    isInside,
    enter: ({ target }: FocusEvent) =>
      setInside(target instanceof Element && target.matches(':focus-visible')),
    leave: ({ currentTarget, relatedTarget }: FocusEvent) => {
      const list = currentTarget as Element;
      const stays = [relatedTarget, document.activeElement].some(
        (each) => each instanceof Node && list.contains(each),
      );
      // The focus is still inside if the whole window has lost it.
      if (!stays) setInside(false);
    },
  };
}
