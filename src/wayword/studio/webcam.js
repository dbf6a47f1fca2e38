// Photos from the webcam for the Teach tab: a dialog with the camera's picture. Each photo goes the way of an upload.
(() => {
  "use strict";

  const WHY = {
    NotAllowedError: "The browser was not allowed to use the camera. Allow it beside the address, then try again.",
    NotFoundError: "There is no camera. Plug one in, or upload photos.",
    NotReadableError: "The camera is in use by another program. Close that, then try again.",
  };
  const NOT_HERE = "A browser gives its camera to pages of this machine and to pages with TLS only. " +
    "Upload photos instead; on a phone that offers the camera too.";

  const make = (tag, fields = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), fields);
    element.append(...children);
    return element;
  };

  const open = () => {
    let stream = null, count = 0;
    const video = make("video", {autoplay: true, muted: true, playsInline: true});
    video.setAttribute("aria-label", "what the camera sees");
    const line = make("p", {textContent: "Waiting for the camera ..."});
    line.setAttribute("role", "status");
    const take = make("button", {textContent: "Take a photo", disabled: true});
    const done = make("button", {textContent: "Done"});
    const dialog = make("dialog", {className: "wayword-webcam"}, video, line, make("div", {}, take, done));
    dialog.setAttribute("aria-label", "Photos from the webcam");

    dialog.addEventListener("close", () => {
      dialog.remove();
      stream?.getTracks().forEach((track) => track.stop());
    });
    done.onclick = () => dialog.close();
    take.onclick = () => {
      const still = make("canvas", {width: video.videoWidth, height: video.videoHeight});
      still.getContext("2d").drawImage(video, 0, 0);
      still.toBlob((blob) => {
        count += 1;
        const file = new File([blob], `webcam ${count}.jpg`, {type: "image/jpeg"});
        document.dispatchEvent(new CustomEvent("wayword-photo", {detail: {file, first: count === 1}}));
        line.textContent = `${count} photo${count > 1 ? "s" : ""} taken; turn the object and take the next`;
      }, "image/jpeg", 0.92);
    };
    video.addEventListener("playing", () => {
      take.disabled = false;
      take.focus();
      line.textContent = "Hold the object so that it fills about half of the picture";
    });

    document.body.append(dialog);
    dialog.showModal();
    if (!navigator.mediaDevices) { line.textContent = NOT_HERE; return; }
    const size = {width: {ideal: 1280}, height: {ideal: 720}, facingMode: "environment"};
    navigator.mediaDevices.getUserMedia({video: size}).then((opened) => {
      stream = opened;
      if (!dialog.isConnected) stream.getTracks().forEach((track) => track.stop());  // closed meanwhile
      video.srcObject = stream;
    }).catch((error) => { line.textContent = WHY[error.name] || `The camera cannot be used: ${error.message}`; });
  };

  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-studio=webcam]")) open();
  });
})();
